import type { Argument, NestedBlock } from './body.ts';

/** The declarations and problems found while the files of a directory are read. */

export interface Declaration {
  readonly file: string;
  /** The line, starting at 1; null in JSON. */
  readonly line: number | null;
  readonly arguments: ReadonlyMap<string, Argument>;
  readonly validations: readonly NestedBlock[];
}

export interface ModuleProblem {
  readonly file: string;
  readonly line: number | null;
  readonly message: string;
}

export interface FoundDeclarations {
  readonly variables: Map<string, Declaration>;
  readonly outputs: Map<string, Declaration>;
  readonly problems: ModuleProblem[];
}
