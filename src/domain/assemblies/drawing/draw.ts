import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Drawing, Graph } from './drawing.ts';
import { layOut } from './layout.ts';

const maxKept = 200;
const kept = new Map<string, Promise<Drawing>>();

/** Lays a graph out. A page that follows a run requests the same graph many times, so layouts are cached by the content of the graph. */
export function drawGraph(graph: Graph, lay: (graph: Graph) => Promise<Drawing> = layOut): Promise<Drawing> {
  const content = canonicalJson(graph);
  const drawing = kept.get(content) ?? lay(graph);
  kept.delete(content);
  kept.set(content, drawing);
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) break;
    kept.delete(oldest);
  }
  drawing.catch(() => kept.delete(content));
  return drawing;
}
