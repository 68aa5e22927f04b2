// Moves between the nodes of a graph by arrow keys, and marks a drawing that scrolls. Each node with a page is a link, so Tab and Enter
// work without this.
(() => {
  /** The weight of the distance across the direction of a key, compared with the distance along it. */
  const aside = 2.5;

  /** @type {Readonly<Record<string, readonly [number, number]>>} */
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /** @param {Element} node */
  function middleOf(node) {
    const { left, top, width, height } = node.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }

  /**
   * The nearest node in a direction.
   * @param {Element} from
   * @param {readonly Element[]} nodes
   * @param {readonly [number, number]} direction
   */
  function findNext(from, nodes, [right, down]) {
    const start = middleOf(from);
    let next = null;
    let nearest = Number.POSITIVE_INFINITY;
    for (const node of nodes) {
      const { x, y } = middleOf(node);
      const ahead = (x - start.x) * right + (y - start.y) * down;
      const beside = Math.abs((x - start.x) * down) + Math.abs((y - start.y) * right);
      if (ahead <= 1 || ahead + aside * beside >= nearest) continue;
      nearest = ahead + aside * beside;
      next = node;
    }
    return next;
  }

  /** Says that a drawing scrolls only where it does. */
  function tellWhatScrolls() {
    for (const graph of document.querySelectorAll('[data-graph]')) {
      const hint = graph.parentElement?.querySelector('[data-graph-hint]');
      const isLarger = graph.scrollWidth > graph.clientWidth + 1 || graph.scrollHeight > graph.clientHeight + 1;
      if (hint instanceof HTMLElement && hint.hidden === isLarger) hint.hidden = !isLarger;
    }
  }

  tellWhatScrolls();
  addEventListener('resize', tellWhatScrolls);
  // An update of the page has replaced the text by that of the server.
  document.addEventListener('htmx:after:swap', tellWhatScrolls);
  // A draft has been drawn again.
  document.addEventListener('graph:drawn', tellWhatScrolls);

  document.addEventListener('keydown', (event) => {
    const direction = directions[event.key];
    if (!direction || event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    const node = event.target.closest('a.graph-node');
    const graph = node?.closest('[data-graph]');
    if (!node || !graph) return;
    const next = findNext(node, [...graph.querySelectorAll('a.graph-node')], direction);
    event.preventDefault();
    if (!(next instanceof SVGElement)) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
})();
