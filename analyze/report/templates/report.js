// Sorting, filtering and choosing a model. Without it the page shows everything.
"use strict";
(function () {
  function value(row, column) {
    var cell = row.cells[column];
    if (!cell) return "";
    var full = cell.getAttribute("data-v");
    if (full === "true" || full === "false") return full === "true" ? 1 : 0;
    if (full !== null) return full === "" ? null : Number(full);
    var text = cell.textContent.trim();
    return cell.classList.contains("n") && text !== "" && !isNaN(text) ? Number(text) : text === "–" ? null : text;
  }

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === "") return 1; // what has no value goes last, in both directions
    if (b === null || b === "") return -1;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b));
  }

  // The column of a heading, with colspan and rowspan of headings above it.
  function columnOf(heading) {
    var rows = heading.closest("thead").rows, taken = [];
    for (var r = 0; r < rows.length; r++) {
      taken[r] = taken[r] || [];
      var at = 0;
      for (var c = 0; c < rows[r].cells.length; c++) {
        var cell = rows[r].cells[c];
        while (taken[r][at]) at++;
        if (cell === heading) return at;
        for (var i = 0; i < cell.rowSpan; i++) {
          taken[r + i] = taken[r + i] || [];
          for (var j = 0; j < cell.colSpan; j++) taken[r + i][at + j] = true;
        }
        at += cell.colSpan;
      }
    }
    return -1;
  }

  function sort(table, heading) {
    var column = columnOf(heading);
    var down = heading.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows).map(function (row, i) { return [value(row, column), i, row]; });
    rows.sort(function (a, b) {
      var empty = a[0] === null || a[0] === "" || b[0] === null || b[0] === "";
      var order = compare(a[0], b[0]);
      return (down && !empty ? -order : order) || a[1] - b[1];
    });
    rows.forEach(function (entry) { body.appendChild(entry[2]); });
  }

  document.querySelectorAll("table.sortable thead th:not(.span)").forEach(function (heading) {
    // No <button>: its text is not painted where a printed table repeats its heading.
    var button = document.createElement("span");
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    while (heading.firstChild) button.appendChild(heading.firstChild);
    heading.appendChild(button);
    button.addEventListener("click", function () { sort(heading.closest("table"), heading); });
    button.addEventListener("keydown", function (event) {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(heading.closest("table"), heading);
    });
  });

  document.querySelectorAll("table.filterable").forEach(function (table) {
    var tools = table.closest("figure").querySelector(".tools");
    if (!tools) return;
    var text = tools.querySelector(".filter"), below = tools.querySelector(".below");
    var by = tools.querySelectorAll(".by"), shown = tools.querySelector(".shown");
    function apply() {
      var words = text ? text.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      var rows = table.tBodies[0].rows, left = 0;
      for (var i = 0; i < rows.length; i++) {
        var row = rows[i], content = row.textContent.toLowerCase();
        var keep = words.every(function (word) { return content.indexOf(word) >= 0; });
        if (keep && below && below.value) {
          keep = row.hasAttribute("data-p") && Number(row.getAttribute("data-p")) < Number(below.value);
        }
        by.forEach(function (choice) {
          if (choice.value && row.getAttribute("data-" + choice.dataset.by) !== choice.value) keep = false;
        });
        row.hidden = !keep;
        if (keep) left++;
      }
      shown.textContent = left === rows.length ? rows.length + " rows" : left + " of " + rows.length + " rows";
    }
    [text, below].concat(Array.prototype.slice.call(by)).forEach(function (control) {
      if (control) control.addEventListener("input", apply);
    });
    apply();
  });

  var selector = document.getElementById("selector");
  if (selector) {
    var sections = Array.prototype.slice.call(document.querySelectorAll("section.audit"));
    var choose = function (anchor) {
      sections.forEach(function (section) { section.hidden = anchor !== "all" && section.id !== anchor; });
      selector.value = anchor;
    };
    var follow = function () {
      var target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      var section = target && target.closest("section.audit");
      if (!section) return;
      if (section.hidden) choose(section.id);
      target.scrollIntoView();
    };
    selector.addEventListener("input", function () {
      choose(selector.value);
      document.getElementById(selector.value === "all" ? "models" : selector.value).scrollIntoView();
    });
    window.addEventListener("hashchange", follow);
    choose(sections[0].id);
    follow();
  }

  // What is folded, filtered out or not chosen on the screen is printed all the same, and put back after it.
  var folds = [], away = [];
  window.addEventListener("beforeprint", function () {
    away = Array.prototype.slice.call(document.querySelectorAll("section.audit[hidden], tr[hidden]"));
    away.forEach(function (part) { part.hidden = false; });
    folds = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    folds.forEach(function (fold) { fold.open = true; });
  });
  window.addEventListener("afterprint", function () {
    folds.forEach(function (fold) { fold.open = false; });
    away.forEach(function (part) { part.hidden = true; });
  });
  document.documentElement.classList.add("scripted");
})();
