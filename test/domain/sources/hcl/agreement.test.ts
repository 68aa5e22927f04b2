import { describe, expect, it } from 'vitest';
import { readFile } from '#domain/sources/hcl/blocks.ts';
import { requireTools } from '#test/executors/support.ts';
import { Snippets } from '#test/support/hcl/snippets.ts';
import { validateFiles } from '#test/support/hcl/validate.ts';
import { readSeed } from '#test/support/seed.ts';

/**
 * Guards look for blocks in files, and a publication refuses files that cannot be read. Both are right only if the service's reader finds
 * what the tools find. `READER_SEED` draws other files.
 */
const seed = readSeed('READER_SEED');
const tools = await requireTools();

const unexpected = ['Unsupported argument', 'Unsupported block type'];
const count = 400;

describe.each(tools)('the blocks and arguments that the parser reads, compared with $name $version', ({ path }) => {
  it(`are the same for generated files (seed ${seed})`, async () => {
    const snippets = new Snippets(seed);
    const files = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}.tf`, snippets.file()]));
    const said = await validateFiles(path, files);
    let valid = 0;
    for (const [name, text] of Object.entries(files)) {
      const { body, problem } = readFile({ name, text });
      const found = said.get(name) ?? [];
      // Of a file that the tool cannot parse, it does not matter what else is found.
      if (found.some(({ summary }) => !unexpected.includes(summary))) continue;
      valid++;
      const blocks = body.blocks.map(({ type, line }) => `${line}: ${type}`);
      const items = [...blocks, ...[...body.arguments].map(([argument, { line }]) => `${line}: ${argument}`)];
      const expected = found.map(({ detail, line }) => `${line}: ${/"(.*)"/.exec(detail)?.[1]}`);
      expect({ text, problem, items: items.sort() }).toEqual({ text, problem: null, items: expected.sort() });
    }
    expect(valid).toBeGreaterThan(count / 3);
  });

  it.each<[string, string]>([
    ['a key that is repeated', '{"variable": {"a": {\n"type": "m"}},\n"variable": {"b": {\n"type": "m"}}}'],
    ['a repeated label', '{"variable": {"//": 1, "a": {\n"type": "m"}, "a": {\n"type": "m"}}}'],
    ['a list of blocks', '{"variable": [{"a": {\n"type": "m"}}, {"b": [{\n"type": "m"}, {\n"type": "m"}]}]}'],
    ['a list in a list', '{"variable": {"a": [[{\n"type": "m"}], [{}, {\n"type": "m"}]]}}'],
    ['a list of files', '[{"variable": {"a": {\n"type": "m"}}}, {"variable": {"b": {\n"type": "m"}}}]'],
    ['names with escapes', '{"vari\\u0061ble": {"a": {\n"typ\\u0065": "m"}}}'],
    ['values that are null', '{"output": null, "variable": {"x": null, "a": [null, {\n"type": "m"}]}}'],
    ['comments', '{"//": {"variable": {"a": {"type": "m"}}}, "variable": {"b": {"//": {"type": "m"}, \n"type": "m"}}}'],
    ['numbers of any length', '{"locals": {"a": 1e400, "b": -0.10}, "variable": {"a": {\n"type": "m"}}}'],
    ['half of a surrogate pair', '{"locals": {"a": "\\ud800"}, "variable": {"a": {\n"type": "m"}}}'],
    ['a byte order mark', '\uFEFF{"variable": {"a": {\n"type": "m"}}}'],
    ['what follows', '{"variable": {"a": {\n"type": "m"}}} {}'],
    ['a comma at the end', '{"variable": {"a": {\n"type": "m"},}}'],
  ])('are the same for JSON with %s', async (_, text) => {
    const said = (await validateFiles(path, { 'a.tf.json': text })).get('a.tf.json') ?? [];
    const isRefused = said.some(
      ({ summary }) =>
        summary === 'Invalid start of value' || summary.startsWith('Trailing') || summary.startsWith('Extran'),
    );
    const { body, problem } = readFile({ name: 'a.tf.json', text });
    expect(problem === null).toBe(!isRefused);
    if (isRefused) return;
    const expected = said.filter(({ summary }) => summary.startsWith('Invalid type'));
    const found = body.blocks.flatMap((block) => {
      const marked = block.body.arguments.get('type');
      return marked ? [marked.line] : [];
    });
    expect(found.sort()).toEqual(expected.map(({ line }) => line).sort());
    expect(found.length).toBeGreaterThan(0);
  });
});
