import { escapeMarkup } from '#domain/shared/values/text.ts';
import type { Drawing } from './drawing.ts';
import { round, shorten, shortenDetail } from './sizes.ts';

/** How a node looks. The styles of the page set colours by class; the word and the border show the same without colours. */
export interface NodeLook {
  /** The class, such as the node's status. Some classes have a border of their own (`borders`). */
  readonly class: string;
  /** The address of a symbol, such as `/assets/icons.svg#check`. */
  readonly icon?: string;
  /** The word for the node's state. */
  readonly word: string;
  /** The link of the node; a path of this service. */
  readonly href?: string;
  /** Further information, which is shown as a tooltip and read by screen readers. */
  readonly title?: string;
}

export interface SvgOptions {
  /** Distinguishes the ids of several drawings of one page. */
  readonly id?: string;
  readonly title?: string;
  /** The class of an edge, such as `added`. */
  readonly edgeClass?: (from: string, to: string) => string;
}

/** Borders that distinguish states without colours. */
const borders: Readonly<Record<string, 'double' | 'dashed'>> = {
  failed: 'double',
  timed_out: 'double',
  skipped: 'dashed',
  canceled: 'dashed',
  removed: 'dashed',
};

/**
 * The drawing as SVG, without scripts, styles and foreign content. It reads from left to right, and all names are escaped. Attributes such
 * as `fill="none"` make it legible without styles; every class overrides them.
 */
export function renderGraphSvg(
  drawing: Drawing,
  look: (key: string) => NodeLook,
  { id = 'graph', title = 'Graph of the nodes', edgeClass = () => '' }: SvgOptions = {},
): string {
  const { width, height } = drawing;
  const looks = drawing.nodes.map(({ key }) => look(key));
  // A picture hides the links inside it from screen readers; a group does not.
  const role = looks.some(({ href }) => isOwnAddress(href)) ? 'group' : 'img';
  const prefix = escapeMarkup(id);
  const nodes = drawing.nodes.map((node, index) => renderNode(node, looks[index] ?? look(node.key), prefix));
  const edges = drawing.edges.map((edge) => renderEdge(edge, edgeClass(edge.from, edge.to), prefix));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" id="${prefix}" class="graph" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ` role="${role}" aria-labelledby="${prefix}-title ${prefix}-desc">`,
    `<title id="${prefix}-title">${escapeMarkup(title)}</title>`,
    `<desc id="${prefix}-desc">${escapeMarkup(describeDrawing(looks))}</desc>`,
    `<defs><marker id="${prefix}-arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">`,
    `<path class="graph-arrow" d="M0 0L10 5L0 10z" fill="currentColor"/></marker></defs>`,
    `<g class="graph-edges" fill="none" stroke="currentColor">`,
    ...edges,
    `</g><g class="plan-nodes">`,
    ...nodes,
    '</g></svg>',
  ].join('');
}

type DrawnNode = Drawing['nodes'][number];

function renderNode(node: DrawnNode, look: NodeLook, prefix: string): string {
  const name = escapeMarkup([node.label, node.detail, look.word, look.title].filter(Boolean).join(', '));
  const content = `<title>${name}</title>${renderBorder(node, look)}${renderIcon(node, look)}${renderTexts(node, look)}`;
  const attributes = `id="${prefix}-node-${escapeMarkup(node.key)}" class="graph-node ${escapeMarkup(look.class)}"`;
  if (!isOwnAddress(look.href)) return `<g ${attributes}>${content}</g>`;
  return `<a ${attributes} href="${escapeMarkup(look.href)}">${content}</a>`;
}

function renderBorder({ x, y, width, height }: DrawnNode, look: NodeLook): string {
  const border = look.class
    .split(' ')
    .map((name) => (Object.hasOwn(borders, name) ? borders[name] : undefined))
    .find((found) => found !== undefined);
  const rectangle = (inset: number, name: string, dashes = '') =>
    `<rect class="${name}" x="${round(x - width / 2 + inset)}" y="${round(y - height / 2 + inset)}" width="${width - 2 * inset}"` +
    ` height="${height - 2 * inset}" rx="6" fill="none" stroke="currentColor"${dashes}/>`;
  if (border === 'double') return rectangle(0, 'graph-border') + rectangle(3, 'graph-border-inner');
  return rectangle(0, 'graph-border', border === 'dashed' ? ' stroke-dasharray="5 3"' : '');
}

const iconSize = 16;
const indent = 12;

function renderIcon({ x, y, width }: DrawnNode, { icon }: NodeLook): string {
  if (!isOwnAddress(icon)) return '';
  const place = `x="${round(x - width / 2 + indent)}" y="${round(y - iconSize / 2)}" width="${iconSize}" height="${iconSize}"`;
  return `<svg class="icon" ${place} fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true"><use href="${escapeMarkup(icon)}"/></svg>`;
}

/** The label, the detail and the word below each other, in the middle of the node's height. */
function renderTexts({ x, y, width, label, detail }: DrawnNode, { word }: NodeLook): string {
  const lines = [
    { name: 'graph-label', text: shorten(label) },
    ...(detail === undefined ? [] : [{ name: 'graph-detail', text: shortenDetail(detail) }]),
    ...(word === '' ? [] : [{ name: 'graph-word', text: shorten(word) }]),
  ];
  const left = round(x - width / 2 + indent + iconSize + indent / 2);
  const first = y - ((lines.length - 1) * lineHeight) / 2 + 4;
  return lines
    .map(({ name, text }, index) => {
      const place = `x="${left}" y="${round(first + index * lineHeight)}"`;
      return `<text class="${name}" ${place} fill="currentColor">${escapeMarkup(text)}</text>`;
    })
    .join('');
}

const lineHeight = 16;

function renderEdge({ from, to, path }: Drawing['edges'][number], name: string, prefix: string): string {
  const classes = escapeMarkup(`graph-edge ${name}`.trim());
  const ends = `<title>${escapeMarkup(`${from} → ${to}`)}</title>`;
  return `<path class="${classes}" d="${escapeMarkup(path)}" marker-end="url(#${prefix}-arrow)">${ends}</path>`;
}

/** The number of nodes in each state, as the text alternative of the drawing. */
function describeDrawing(looks: readonly NodeLook[]): string {
  const counts = new Map<string, number>();
  for (const { word } of looks) counts.set(word, (counts.get(word) ?? 0) + 1);
  const states = [...counts].map(([word, count]) => `${count} ${word}`);
  return `${looks.length} node${looks.length === 1 ? '' : 's'}: ${states.join(', ')}`;
}

/** Whether an address is a path of this service, rather than a script or another host. */
function isOwnAddress(address: string | undefined): address is string {
  return address !== undefined && /^\/(?![/\\])/.test(address) && !/[\u0000-\u0020\\]/.test(address);
}
