import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import type { AssemblyDiff } from '#domain/assemblies/diff/diff.ts';
import type { DraftReport } from '#domain/assemblies/drafts/validation.ts';
import { chooseNodes } from '#domain/assemblies/drawing/choice.ts';
import type { Graph } from '#domain/assemblies/drawing/drawing.ts';
import { differencesOf, graphOf, graphOfBoth } from '#domain/assemblies/drawing/spec-graph.ts';
import { type NodeLook, renderGraphSvg } from '#domain/assemblies/drawing/svg.ts';
import type { AuthorEvaluation } from '#domain/assemblies/evaluation/author.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** The media type of drawings. */
export const svg = 'image/svg+xml';

/** The status with which nodes come first if a graph is too large to be drawn whole. */
const first = 'failed';

interface Side {
  readonly name: string;
  readonly spec: JsonValue;
}

/** Draws what differs between two specs. */
export async function drawDiff(author: AuthorEvaluation, from: Side, to: Side, diff: AssemblyDiff): Promise<RawAnswer> {
  const [before, after] = await Promise.all([readGraph(author, from.spec), readGraph(author, to.spec)]);
  const { ofNode, ofEdge } = differencesOf(diff);
  const look = (key: string): NodeLook => ({ class: ofNode(key), word: ofNode(key) });
  const title = `What changed from ${from.name} to ${to.name}`;
  return draw(author, graphOfBoth(before, after), {
    title,
    look,
    edgeClass: ofEdge,
    isUrgent: (key) => ofNode(key) !== 'unchanged',
  });
}

/** Draws the graph of a spec, which need not be valid. */
export async function drawSpec(author: AuthorEvaluation, { value, errors }: DraftReport): Promise<RawAnswer> {
  const problemsOf = (key: string) =>
    errors.filter(({ path }) => path === `/nodes/${key}` || path.startsWith(`/nodes/${key}/`)).length;
  const look = (key: string): NodeLook => {
    const problems = problemsOf(key);
    if (problems === 0) return { class: 'valid', word: 'valid' };
    return { class: 'invalid', word: problems === 1 ? '1 problem' : `${problems} problems` };
  };
  return draw(author, await readGraph(author, value), {
    title: 'Graph of the nodes',
    look,
    isUrgent: (key) => problemsOf(key) > 0,
  });
}

interface Style {
  readonly title: string;
  readonly look: (key: string) => NodeLook;
  readonly edgeClass?: (from: string, to: string) => string;
  /** Whether a node is drawn before others if not all can be. */
  readonly isUrgent: (key: string) => boolean;
}

/** The graph of a spec. Its edges are what it adds to an empty spec, which a thread finds out. */
async function readGraph(author: AuthorEvaluation, spec: JsonValue): Promise<Graph> {
  const { edges } = await author.diff({}, spec);
  return graphOf(spec, edges.added);
}

async function draw(
  author: AuthorEvaluation,
  whole: Graph,
  { title, look, edgeClass, isUrgent }: Style,
): Promise<RawAnswer> {
  const urgent = whole.nodes.filter(({ key }) => isUrgent(key)).map(({ key }) => [key, first]);
  const { graph, caption } = chooseNodes(whole, Object.fromEntries(urgent));
  const drawing = await author.drawGraph(graph);
  const named = caption === null ? title : `${title} (${caption})`;
  return RawAnswer.of(svg, renderGraphSvg(drawing, look, { title: named, ...(edgeClass && { edgeClass }) }));
}
