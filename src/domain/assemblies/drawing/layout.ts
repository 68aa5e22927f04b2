import { layOutSimply, placeInColumns } from './columns.ts';
import { type Drawing, type Graph, maxDrawn } from './drawing.ts';
import { type Graphviz, layOutCarefully, loadGraphviz } from './graphviz.ts';
import { heightOf, type Layout, type Point, round, widthOf } from './sizes.ts';

/**
 * Graphviz adds an invisible node for each column that an edge crosses, and its time grows with the square of their number. Measured: a
 * graph whose edges cross this many columns takes some 100 ms, and one of 200 nodes and 1,000 edges may take a minute.
 */
const maxCrossed = 700;
/** The margin around a drawing, in pixels. */
const margin = 8;

/** @throws as `layOutWith` */
export async function layOut(graph: Graph): Promise<Drawing> {
  return layOutWith(await loadGraphviz(), graph);
}

/** @throws Error if the graph is larger than `maxDrawn`, or has an edge without its nodes */
export function layOutWith(graphviz: Graphviz, graph: Graph): Drawing {
  refuseUndrawable(graph);
  const columns = placeInColumns(graph);
  const isSimple = columns.crossed <= maxCrossed;
  return toDrawing(graph, isSimple ? layOutCarefully(graphviz, graph) : layOutSimply(graph, columns));
}

function refuseUndrawable({ nodes, edges }: Graph): void {
  if (nodes.length > maxDrawn.nodes || edges.length > maxDrawn.edges) {
    throw new Error(`a drawing has at most ${maxDrawn.nodes} nodes and ${maxDrawn.edges} edges`);
  }
  const keys = new Set(nodes.map(({ key }) => key));
  const stray = edges.flat().find((key) => !keys.has(key));
  if (stray !== undefined) throw new Error(`an edge names the node ${stray}, which the graph does not have`);
}

function toDrawing({ nodes }: Graph, { width, height, middles, edges }: Layout): Drawing {
  const shift = ({ x, y }: Point) => ({ x: round(x + margin), y: round(y + margin) });
  return {
    width: round(width + 2 * margin),
    height: round(height + 2 * margin),
    nodes: nodes.map((node, number) => {
      const middle = middles.get(number);
      if (!middle) throw new Error('the layout left a node out');
      return { ...node, ...shift(middle), width: widthOf(node), height: heightOf(node) };
    }),
    edges: edges.flatMap(({ from, to, points }) => {
      const [tail, head] = [nodes[from], nodes[to]];
      return tail && head ? [{ from: tail.key, to: head.key, path: toPath(points.map(shift)) }] : [];
    }),
  };
}

function toPath([start, ...points]: readonly Point[]): string {
  return start ? `M${start.x} ${start.y}C${points.map(({ x, y }) => `${x} ${y}`).join(' ')}` : '';
}
