import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { assetUrl } from '#api/web/assets.ts';
import type { IconName } from '#api/web/components/icon.ts';
import { chooseNodes } from '#domain/assemblies/drawing/choice.ts';
import type { Graph } from '#domain/assemblies/drawing/drawing.ts';
import { type NodeLook, renderGraphSvg, type SvgOptions } from '#domain/assemblies/drawing/svg.ts';
import type { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';

/** The media type of drawings. */
export const svg = 'image/svg+xml';

/** A drawing, and a note on what it leaves out. */
export interface GraphPicture {
  readonly svg: string;
  /** The part that is shown, such as `200 of 1,412 nodes`; null if it is everything. */
  readonly caption: string | null;
}

export interface PictureStyle extends Pick<SvgOptions, 'edgeClass'> {
  readonly title: string;
  readonly look: (key: string) => NodeLook;
  /** The status of each node. It determines which nodes are drawn first if there are too many. */
  readonly statuses: Readonly<Record<string, string>>;
}

/** Draws a graph. If it is large, draws only the nodes that need attention most, with their neighbours. */
export async function drawPicture(
  evaluator: AssemblyEvaluator,
  whole: Graph,
  style: PictureStyle,
): Promise<GraphPicture> {
  const { look, title, statuses, edgeClass } = style;
  const { graph, caption } = chooseNodes(whole, statuses);
  const named = caption === null ? title : `${title} (${caption})`;
  const options = { title: named, ...(edgeClass && { edgeClass }) };
  return { svg: renderGraphSvg(await evaluator.drawGraph(graph), look, options), caption };
}

/** A drawing as the answer to a client that accepts it. */
export function answerPicture(picture: GraphPicture): RawAnswer {
  return RawAnswer.of(svg, picture.svg);
}

const sheet = assetUrl('icons.svg');

export function iconAddress(name: IconName): string {
  return `${sheet}#${name}`;
}
