import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRequest, makeWorkRoot, requireTools, run } from '../../support.ts';

/** A program beside the tool changes the plan file before the service reads it. */
const terraform = (await requireTools()).find(({ name }) => name === 'terraform');
const work = makeWorkRoot();
const version = '9.9.9';
const script = `#!/bin/sh
if [ "$1" = version ]; then echo '{"terraform_version":"${version}"}'; exit 0; fi
${terraform?.path} "$@"
code=$?
if [ "$1" = plan ]; then for word in "$@"; do case "$word" in -out=*) printf x >> "\${word#-out=}" ;; esac; done; fi
exit $code
`;

describe.skipIf(!terraform?.path.startsWith('/usr/'))('a plan file that is changed while the tool plans', () => {
  const path = process.env['PATH'] ?? '';
  beforeAll(() => {
    const directory = join(work.path, '..', 'tools');
    mkdirSync(directory);
    writeFileSync(join(directory, 'terraform'), script);
    chmodSync(join(directory, 'terraform'), 0o755);
    process.env['PATH'] = [directory, path].join(delimiter);
  });
  afterAll(async () => {
    process.env['PATH'] = path;
    await work.remove();
  });

  it('makes the plan fail with plan_invalid', async () => {
    const executor = { kind: 'opentofu' as const, files: { 'main.tf': 'resource "terraform_data" "x" {}\n' } };
    const tool = { name: 'terraform' as const, version };
    const { result } = await run(makeRequest({ workRoot: work.path, executor, phase: 'plan', tool }));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'plan_invalid' });
    expect(result.plan).toBeUndefined();
  });
});
