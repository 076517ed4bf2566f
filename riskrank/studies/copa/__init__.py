"""COPA, a choice by objectives that have no common unit: the room of ``copa``."""
