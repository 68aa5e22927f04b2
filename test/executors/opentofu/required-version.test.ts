import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { readFilesTools } from '#domain/registry/tools/files-tools.ts';
import { intersectDemand, isEmptyDemand, meetsDemand } from '#domain/tools/demand.ts';
import { makeWorkRoot, requireTools } from '../support.ts';

const tools = await requireTools();
const work = makeWorkRoot();
afterAll(work.remove);
let places = 0;

const requires = (range: string) => `terraform {\n  required_version = "${range}"\n}\n`;
const language = (range: string) => `language {\n  compatible_with {\n    opentofu = "${range}"\n  }\n}\n`;

/** Whether a tool accepts files at `init`. */
async function accepts(path: string, files: Record<string, string>): Promise<boolean> {
  const place = join(work.path, `bare-${++places}`);
  mkdirSync(place, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  const settings = { PATH: process.env['PATH'], HOME: place, CHECKPOINT_DISABLE: '1' };
  return promisify(execFile)(path, ['init', '-input=false'], { cwd: place, env: settings }).then(
    () => true,
    () => false,
  );
}

describe.each(tools)('required_version as $name $version reads it', (tool) => {
  it.each<[string, Record<string, string>]>([
    ['of a file that both read and no version is in', { 'main.tf': requires('0.1.99') }],
    ['beside a file of OpenTofu with another name', { 'main.tf': requires('0.1.99'), 'more.tofu': '' }],
    ['of a file of OpenTofu alone', { 'main.tf': '', 'main.tofu': requires('0.1.99') }],
    ['of an override file', { 'main.tf': requires('0.1.99'), 'x_override.tf': requires('>= 1.5') }],
    [
      'of an override of OpenTofu',
      { 'main.tofu': requires('0.1.99'), 'main.tf': '', 'x_override.tofu': requires('>= 1') },
    ],
    ['of a language block that fits', { 'main.tf': language('>= 1.12') }],
    ['of a language block that does not fit', { 'main.tofu': language('>= 99.0'), 'main.tf': '' }],
  ])('%s has the same effect at the admission of a run as in the bare tool', async (_what, files) => {
    const demand = intersectDemand({ files: readFilesTools(files), wanted: [], writer: null });
    const isAdmitted = !isEmptyDemand(demand) && meetsDemand(demand, tool);
    expect(isAdmitted).toBe(await accepts(tool.path, files));
  });
});
