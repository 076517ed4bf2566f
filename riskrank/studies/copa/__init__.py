"""The study behind ``copa``: model choice by objectives that have no common unit."""
