/** A graph, and where its parts lie in a drawing. */

export interface GraphNode {
  readonly key: string;
  readonly label: string;
  /** A second line, such as the template. */
  readonly detail?: string;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  /** From a node to one that waits for it. */
  readonly edges: readonly (readonly [from: string, to: string])[];
}

/** The maximum size of a graph that is laid out. Callers show a part of a larger graph (`chooseNodes`). */
export const maxDrawn = { nodes: 200, edges: 1_000 };

/** Coordinates are pixels from the upper left corner. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (GraphNode & {
    /** The middle of the node. */
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  })[];
  /** `path` is the `d` of a path of SVG. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly path: string }[];
}
