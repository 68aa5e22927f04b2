import { type NestedBlock, type ReadBody, readBody } from './body.ts';
import { readJsonBody } from './json-body.ts';
import { isJson } from './root-files.ts';

/** A configuration file's name, which determines the form of the language, and its text. */
export interface ConfigurationText {
  readonly name: string;
  readonly text: string;
}

/** Reads the structure of a configuration file in either form of the language. */
export function readFile({ name, text }: ConfigurationText): ReadBody {
  return isJson(name) ? readJsonBody(text) : readBody(text);
}

export interface FoundBlock {
  readonly block: NestedBlock;
  /** The type of the top-level block that directly contains it; null for a top-level block. */
  readonly parent: string | null;
}

/** The top-level blocks of a file, and the blocks directly in them. */
export function* findBlocks(file: ConfigurationText): Generator<FoundBlock> {
  for (const block of readFile(file).body.blocks) {
    yield { block, parent: null };
    for (const inner of block.body.blocks) yield { block: inner, parent: block.type };
  }
}
