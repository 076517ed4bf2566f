// What tests look at in a page: functions of the page's own document, called by their names.

const all = selector => [...document.querySelectorAll(selector)];
const box = one => one.getBoundingClientRect();

// How far down the parts of the answer end, whether its table scrolls, and how many bars there are.
function answer() {
  const seen = ['h1', '.word strong', '.verdict', '.quotes div:last-child dt', '.answer table'];
  const places = seen.map(one => box(document.querySelector(one)).bottom);
  const scrolls = document.querySelector('.answer .scroll');
  return [places, scrolls.scrollWidth <= scrolls.clientWidth + 1, all('.bar').length];
}

// Texts of some elements, node by node.
function* texts(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) { yield walker.currentNode; }
}

// Whether a part of a text stands on more than one line.
function broken(node, start, end) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  return range.getClientRects().length > 1;
}

// Names in cells and lists, of one word, that go on in the next line.
function brokenNames() {
  const nodes = all('td[dir], .models li').flatMap(cell => [...texts(cell)]);
  return nodes.map(one => one.data).filter((text, at) => !text.includes(' ') && broken(nodes[at], 0, text.length));
}

// Texts, but those of pictures, in which a name goes on in the next line at any width up to 90 pixels less.
function brokenMentions(name, width) {
  const found = [];
  for (let less = 0; less < 90; less += 6) {
    document.body.style.maxWidth = width - less + 'px';
    for (const node of texts(document.body)) {
      const at = node.data.indexOf(name);
      if (at < 0 || node.parentElement.closest('svg, script, title')) { continue; }
      if (broken(node, at, at + name.length)) { found.push(node.data); }
    }
  }
  return found;
}

// Words with hyphens in cells that go on in the next line.
function brokenWords() {
  return all('td').flatMap(cell => [...texts(cell)]).flatMap(node => [...node.data.matchAll(/[^ ]+-[^ ]+/g)]
    .filter(word => broken(node, word.index, word.index + word[0].length)).map(word => word[0]));
}

// Words of pictures that are smaller than eleven pixels.
function smallWords() {
  return all('figure svg').filter(svg => svg.checkVisibility()).flatMap(svg => {
    const scale = box(svg).width / svg.viewBox.baseVal.width;
    const size = text => scale * parseFloat(getComputedStyle(text).fontSize);
    const words = [...svg.querySelectorAll('text')].filter(text => /[a-z]{2}/i.test(text.textContent));
    return words.filter(text => size(text) < 10.95).map(text => [size(text), text.textContent]);
  });
}

// First cells of every table as it is given, and after its first button was pressed once, twice and again.
function sorted() {
  return all('table').map(table => {
    const text = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent);
    const button = table.tHead.querySelector('button'), given = text();
    const steps = [1, 2, 3].map(() => { button.click(); return text(); });
    return {given, steps, sort: table.tHead.querySelectorAll('[aria-sort]').length};
  });
}

// The column of means of the ranking, sorted by it.
function meansSorted() {
  const table = document.querySelector('#ranking table');
  const head = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'mean');
  table.tHead.rows[0].cells[head].querySelector('button').click();
  return [...table.tBodies[0].rows].map(row => parseFloat(row.cells[head].textContent));
}

// How many rows of the ranking a filter leaves, and what is said of them.
function filtered(text) {
  const input = document.querySelector('#ranking input');
  input.value = text;
  input.dispatchEvent(new Event('input'));
  const rows = all('#ranking tbody tr').filter(row => !row.hidden);
  return [rows.length, document.querySelector('#ranking [role=status]').textContent];
}

// Of a model in focus: whose marks are chosen, how many curves, the state of its button, and what is chosen after.
function focused(model) {
  const button = all('.models button')[model];
  button.click();
  const about = all('.chosen').map(one => one.dataset.model);
  const curves = all('.part g.curve.chosen').length, pressed = button.getAttribute('aria-pressed');
  button.click();
  return [about, curves, pressed, all('.chosen').length];
}

// Words of pictures that are cut while all models are in focus.
function cutWords() {
  all('.models button').forEach(one => one.click());
  return all('svg text').filter(text => {
    const own = box(text), whole = box(text.closest('svg'));
    return own.left < whole.left - 1 || own.right > whole.right + 1 || own.top < whole.top - 1;
  }).map(text => text.textContent);
}

// Figure by figure: of every mark whether it is of a model in focus, how strong it is, and its tag.
function strengths(model) {
  all('.models button')[model].click();
  const strength = one => {
    let value = 1;
    for (let at = one.closest('[data-model]'); at; at = at.parentElement) { value *= getComputedStyle(at).opacity; }
    return value;
  };
  const mine = one => one.closest('[data-model]').dataset.model.split(' ').includes(String(model));
  return all('figure').map(figure => [...figure.querySelectorAll('path, use, text, image')]
    .filter(one => !one.closest('defs') && one.closest('[data-model]'))
    .map(one => [mine(one), strength(one), one.tagName]));
}

// Of every figure the width of its picture, its height, and whether it may be parted.
function figures() {
  return all('figure').map(figure => [
    box(figure.querySelector('svg')).width, box(figure).height, getComputedStyle(figure).breakInside]);
}

// Mark the words of tables by their ink: red says head or row, blue which table, green is 2.
function inked() {
  all('table').forEach((table, at) => {
    const ink = (one, red) => one.style.setProperty('color', `rgb(${red},2,${at})`, 'important');
    table.tHead.querySelectorAll('*').forEach(one => ink(one, 1));
    [...table.tBodies[0].rows].forEach(row => ink(row.cells[0], 3));
  });
}

// What is seen of each part that is folded away, though somebody opened it.
function foldedShown() {
  return all('details.folded').map(one => {
    one.open = true;
    return [...one.children].filter(part => box(part).height > 0).map(part => part.tagName);
  });
}

// Whether a link in the footer opens the part it leads to, and once more after it was folded by hand.
async function linkOpens() {
  const part = document.querySelector('#glossary'), opened = [];
  while (opened.length < 2) {
    part.open = false;
    document.querySelector('footer a').click();
    opened.push(await new Promise(done => setTimeout(() => done(part.open), 100)));
  }
  return opened.every(Boolean);
}

// How many parts are closed in print and after it, and how many there are.
function closedInPrint() {
  const closed = () => all('details.part').filter(one => !one.open).length;
  dispatchEvent(new Event('beforeprint'));
  const printed = closed();
  dispatchEvent(new Event('afterprint'));
  return [printed, closed(), all('details.part').length];
}

// Of the ranking scrolled to its end: whether it scrolls, how far its names went, and how its shade is attached.
function scrolledNames() {
  const scrolls = document.querySelector('#ranking table').parentElement;
  scrolls.scrollLeft = 10000;
  const away = box(scrolls.querySelector('td.name')).left - box(scrolls).left;
  return [scrolls.scrollLeft > 0, away, getComputedStyle(scrolls).backgroundAttachment];
}

// Tables that are wider than their boxes.
function wideTables() {
  return all('table').map(one => one.parentElement)
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel);
}

// Each value that a style has in some elements.
function styles(selector, name) {
  return [...new Set(all(selector).map(one => getComputedStyle(one)[name]))];
}

// What axe-core complains of.
function violations() {
  return axe.run().then(result => result.violations.map(
    one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 120)).slice(0, 3).join(' / ')));
}
