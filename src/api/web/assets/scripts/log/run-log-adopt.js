// Reads the lines that came with the page, so that they need not be requested again.

/** @typedef {import('./run-log-lines.js').Line} Line */

/** @param {HTMLElement} root @returns {import('./run-log-lines.js').Part} */
export function adoptLines(root) {
  const { total = '0', sections = '[]' } = root.dataset;
  const lines = [...root.querySelectorAll('.log-line[data-time]')].map(adoptLine);
  const to = lines.at(-1)?.[0] ?? 0;
  return { lines, to, total: Number(total), sections: JSON.parse(sections), complete: false, hasLostColours: false };
}

/** @param {Element} row @returns {Line} */
function adoptLine(row) {
  const { line, stream = 'stdout', time, cut = '0' } = /** @type {HTMLElement} */ (row).dataset;
  const nodes = [...(row.querySelector('.log-text')?.childNodes ?? [])];
  const isPlain = nodes.every((node) => node instanceof Text);
  const spans = isPlain
    ? nodes.map((node) => node.textContent ?? '').join('')
    : nodes.map(
        (node) => /** @type {const} */ ([node.textContent ?? '', node instanceof Element ? node.className : '']),
      );
  return [Number(line), stream, Number(time), spans, Number(cut)];
}
