import { createScanner } from 'jsonc-parser';
import { token } from '#domain/shared/values/strict-json.ts';
import type { Argument, Body, NestedBlock, ReadBody } from './body.ts';
import { scanHcl } from './tokens.ts';

/**
 * Reads the structure of a file in the JSON form of OpenTofu's language. As in the tools, each repetition of a key is a separate block. It
 * does not recurse.
 */

/** A JSON value, with its members and items only as deep as blocks can be nested. */
interface Node {
  readonly kind: 'object' | 'list' | 'string' | 'null' | 'other';
  readonly members: { readonly name: string; readonly line: number; readonly value: Node }[];
  readonly items: Node[];
  readonly start: number;
  end: number;
  /** The text of a string. */
  readonly value: string;
}

/** How many labels the blocks of each type have, and which blocks are in them. */
interface BlockSchema {
  readonly labels: number;
  readonly blocks?: Readonly<Record<string, BlockSchema>>;
}

const blockTypes: Readonly<Record<string, BlockSchema>> = {
  terraform: {
    labels: 0,
    blocks: {
      backend: { labels: 1 },
      cloud: { labels: 0 },
      encryption: { labels: 0, blocks: { key_provider: { labels: 2 }, method: { labels: 2 } } },
      provider_meta: { labels: 1 },
      required_providers: { labels: 0 },
      state_store: { labels: 1 },
    },
  },
  language: { labels: 0, blocks: { compatible_with: { labels: 0 } } },
  variable: { labels: 1, blocks: { validation: { labels: 0 } } },
  output: { labels: 1 },
  module: { labels: 1 },
  provider: { labels: 1 },
  check: { labels: 1 },
  resource: { labels: 2 },
  data: { labels: 2 },
  ephemeral: { labels: 2 },
  action: { labels: 2 },
};
/** Blocks of other types, such as `locals`, have no labels. */
const otherBlock: BlockSchema = { labels: 0 };

/** The limit in UTF-16 units. It is higher than for the native form, because programs write larger files than people. */
const maxLength = 8 * 1024 * 1024;
/** No block is nested deeper than this. */
const maxDepth = 16;

export function readJsonBody(text: string): ReadBody {
  const body: Body = { arguments: new Map(), blocks: [] };
  if (text.length > maxLength) return { body, problem: { line: 1, message: 'the file is too long' } };
  try {
    JSON.parse(text);
  } catch {
    return { body, problem: { line: 1, message: 'is not valid JSON' } };
  }
  const root = readNode(text);
  for (const { name, line, value } of membersOf(root)) {
    const schema = Object.hasOwn(blockTypes, name) ? blockTypes[name] : undefined;
    for (const block of toBlocks(text, name, line, value, schema ?? otherBlock)) body.blocks.push(block);
  }
  return { body, problem: null };
}

function toBlocks(text: string, type: string, line: number, value: Node, schema: BlockSchema): NestedBlock[] {
  let labelled: { labels: string[]; line: number; value: Node }[] = [{ labels: [], line, value }];
  for (let level = 0; level < schema.labels; level++) {
    labelled = labelled.flatMap(({ labels, value: named }) =>
      membersOf(named).map((each) => ({ labels: [...labels, each.name], line: each.line, value: each.value })),
    );
  }
  return labelled.flatMap(({ labels, line: at, value: content }) => {
    const bodies = content.kind === 'list' ? content.items : content.kind === 'object' ? [content] : [];
    return bodies.map((each) => ({ type, labels, line: at, body: toBody(text, each, schema.blocks ?? {}) }));
  });
}

function toBody(text: string, node: Node, schemas: Readonly<Record<string, BlockSchema>>): Body {
  const body: Body = { arguments: new Map(), blocks: [] };
  for (const { name, line, value } of membersOf(node)) {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    const blocks = schema === undefined ? [] : toBlocks(text, name, line, value, schema);
    for (const block of blocks) body.blocks.push(block);
    if (schema === undefined && name !== '//' && !body.arguments.has(name))
      body.arguments.set(name, toArgument(text, name, line, value));
  }
  return body;
}

/** Every JSON value is also an expression of the language. Only a type is written as a string. */
function toArgument(text: string, name: string, line: number, node: Node): Argument {
  const written = name === 'type' && node.kind === 'string' ? node.value : text.slice(node.start, node.end);
  return { line, value: scanHcl(written).tokens };
}

/** The members of an object, or of all objects of a list. A member with the name `//` is a comment. */
function membersOf(node: Node): Node['members'] {
  return node.kind === 'list' ? node.items.flatMap(({ members }) => members) : node.members;
}

/** Reads a text that is known to be valid JSON, up to the depth of blocks. It keeps repeated members of objects. */
function readNode(text: string): Node {
  const scanner = createScanner(text, true);
  const root = newNode('list', 0);
  const open = [root];
  let key: { name: string; line: number } | null = null;
  for (let kind = Number(scanner.scan()); kind !== token.end; kind = Number(scanner.scan())) {
    const around = open.at(-1) ?? root;
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    if (kind === token.comma || kind === token.colon) continue;
    if (kind === token.closeBrace || kind === token.closeBracket) {
      around.end = end;
      open.pop();
    } else if (kind === token.string && around.kind === 'object' && key === null) {
      key = { name: scanner.getTokenValue(), line: scanner.getTokenStartLine() + 1 };
    } else {
      const node = newNode(kinds[kind] ?? 'other', start, end, kind === token.string ? scanner.getTokenValue() : '');
      const isOpening = node.kind === 'object' || node.kind === 'list';
      if (key !== null && open.length <= maxDepth) around.members.push({ ...key, value: node });
      if (key === null && open.length <= maxDepth) around.items.push(node);
      if (isOpening) open.push(node);
      key = null;
    }
  }
  return root.items[0] ?? root;
}

const kinds: Readonly<Record<number, Node['kind']>> = {
  [token.openBrace]: 'object',
  [token.openBracket]: 'list',
  [token.string]: 'string',
  [token.null]: 'null',
};

function newNode(kind: Node['kind'], start: number, end = start, value = ''): Node {
  return { kind, members: [], items: [], start, end, value };
}
