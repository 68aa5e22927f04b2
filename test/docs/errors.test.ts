import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorCodes } from '#domain/error-codes.ts';
import { startApi } from '#test/support/api/http-api.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { codeBlocks } from './markdown.ts';

it('docs/errors.md lists every code with its meaning, and no others', () => {
  const rows = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `(\w+)` \| (.+) \|$/gm)];
  expect(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning]))).toEqual(errorCodes);
});

it('the command of docs/errors.md returns a problem with a code and each error', async () => {
  const api = await startApi();
  try {
    const [block] = codeBlocks('docs/errors.md').filter(({ info }) => info === 'sh errors');
    const input = (block?.text ?? '').replaceAll('http://127.0.0.1:8080', api.url);
    const { output, errors } = await runShell(['-eu'], {}, { shell: 'sh', input });
    expect(errors).toBe('');
    expect(JSON.parse(output)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ path: 'email' }, { path: 'password' }],
    });
  } finally {
    await api.close();
  }
});
