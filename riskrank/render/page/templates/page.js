"use strict";
// Everything on the page is there without this; it adds sorting, filtering and models in focus.
(function () {
  const number = /^[<>~?\s]*([-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)/i;

  function value(text) {
    const found = number.exec(text);
    return found ? parseFloat(found[1].replace(/,/g, "").replace(/−/g, "-")) : NaN;
  }

  function apart(count) { return count.toLocaleString("en"); }

  function compare(a, b) {
    const x = value(a), y = value(b);
    if (!isNaN(x) && !isNaN(y)) { return x - y; }
    if (isNaN(x) !== isNaN(y)) { return isNaN(x) ? 1 : -1; }
    return a.localeCompare(b, "en", { numeric: true });
  }

  function sortable(table) {
    const body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells);
    const given = Array.from(body.rows);
    heads.forEach(function (head, column) {
      const button = document.createElement("button"), label = head.querySelector("span");
      button.type = "button";
      button.append(...label.childNodes);
      button.title = "Sort by this column";
      label.replaceWith(button);
      button.addEventListener("click", function () {
        const before = head.getAttribute("aria-sort");
        heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
        let rows = given;
        if (before !== "descending") {
          const sign = before === "ascending" ? -1 : 1;
          head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
          rows = given.slice().sort(function (one, two) {
            return sign * compare(one.cells[column].textContent, two.cells[column].textContent);
          });
        }
        body.append(...rows);
      });
    });
  }

  function filterable(table) {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length < 12) { return; }
    const tools = document.createElement("div"), label = document.createElement("label");
    const input = document.createElement("input"), count = document.createElement("span");
    tools.className = "tools";
    input.type = "search";
    count.setAttribute("role", "status");
    label.append("Filter rows of “" + table.parentElement.getAttribute("aria-label") + "”: ", input);
    tools.append(label, count);
    table.parentElement.before(tools);
    input.addEventListener("input", function () {
      const wanted = input.value.toLowerCase();
      let shown = 0;
      rows.forEach(function (row) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = !wanted ? "" : shown ? apart(shown) + " of " + apart(rows.length) + " rows"
        : "No row holds “" + input.value + "”: none of " + apart(rows.length) + " is shown.";
    });
  }

  function focusing(list) {
    const main = document.querySelector("main"), chosen = new Set(), buttons = [];
    const all = Array.from(main.querySelectorAll("[data-model]")).filter(function (one) { return one.tagName !== "LI"; });
    function apply() {
      main.classList.toggle("focusing", chosen.size > 0);
      all.forEach(function (one) {
        const about = one.dataset.model.split(" ");
        one.classList.toggle("chosen", about.some(function (model) { return chosen.has(model); }));
      });
      buttons.forEach(function (button) {
        button.setAttribute("aria-pressed", String(chosen.has(button.parentElement.dataset.model)));
      });
      clear.hidden = chosen.size === 0;
    }
    Array.from(list.children).forEach(function (item) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = item.textContent;
      button.setAttribute("aria-pressed", "false");
      item.textContent = "";
      item.append(button);
      buttons.push(button);
      button.addEventListener("click", function () {
        const model = item.dataset.model;
        if (!chosen.delete(model)) { chosen.add(model); }
        apply();
      });
    });
    const tools = document.createElement("div"), clear = document.createElement("button");
    tools.className = "tools";
    tools.append("Press a model to put it into focus:");
    clear.type = "button";
    clear.hidden = true;
    clear.textContent = "No focus";
    clear.addEventListener("click", function () { chosen.clear(); apply(); buttons[0].focus(); });
    tools.append(clear);
    list.before(tools);
  }

  // Folded where there are scripts: all is read without them, on paper, and where a link leads to it.
  function folding(parts) {
    let before = [];
    function reveal() {
      const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const part = found && found.closest("details");
      if (part) { part.open = true; part.scrollIntoView(); }
    }
    parts.forEach(function (part) { part.open = false; });
    window.addEventListener("hashchange", reveal);
    // A link to where the page is already changes nothing, though its part may be folded again.
    document.addEventListener("click", function (event) { if (event.target.closest("a")) { setTimeout(reveal); } });
    window.addEventListener("beforeprint", function () {
      before = parts.filter(function (part) { return !part.open; });
      before.forEach(function (part) { part.open = true; });
    });
    window.addEventListener("afterprint", function () { before.forEach(function (part) { part.open = false; }); });
    reveal();
  }

  folding(Array.from(document.querySelectorAll("details.part")));
  document.querySelectorAll("table").forEach(function (table) { sortable(table); filterable(table); });
  document.querySelectorAll("ul.models").forEach(focusing);
})();
