import { expect } from 'vitest';
import { runShell } from '#test/support/programs/shell.ts';
import { administrator, type System } from '#test/support/system.ts';
import { codeBlocks } from './markdown.ts';

/** What the examples of pages talk to, if they need no worker. */
type Served = Pick<System, 'url' | 'administrator'>;

/** The command blocks of a page that have a name, as a reader would paste them, with the address of a system. */
export function blocksOf(system: Pick<System, 'url'>, file: string, name: string): string[] {
  return codeBlocks(file)
    .filter(({ info }) => info === `sh ${name}`)
    .map(({ text }) => text.replaceAll('http://127.0.0.1:8080', system.url));
}

/** A token of the administrator, and the place that docs/access.md has its readers make. */
export interface Place {
  readonly TOKEN: string;
  readonly TEAM: string;
  readonly ENVIRONMENT: string;
}

/** Makes the place of docs/access.md. */
export async function makePlace(system: System): Promise<Place> {
  const { email, password } = administrator;
  const TOKEN = (await system.administrator.post('/auth/sessions', { email, password })).body.token;
  const input = `${blocksOf(system, 'docs/access.md', 'place').join('')}echo "$TEAM $ENVIRONMENT"\n`;
  const { output } = await runShell(['-eu'], { TOKEN }, { input });
  const [TEAM = '', ENVIRONMENT = ''] = output.trim().split(' ');
  return { TOKEN, TEAM, ENVIRONMENT };
}

/** Runs blocks one after the other in one shell, which must succeed, and returns what each of them printed. */
export async function runBlocks(
  blocks: readonly string[],
  variables: Readonly<Record<string, string>>,
  withinMs: number,
): Promise<string[]> {
  const input = blocks.join("echo '--'\n");
  const { code, output, errors } = await runShell(['-eu'], variables, { input, withinMs });
  expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
  return output.split('--\n');
}

/**
 * Has a maintainer follow a page from beginning to end: the place of docs/access.md, and then the page's blocks `example`.
 * Returns what each block of the page printed.
 */
export async function followPage(system: Served, file: string, withinMs: number): Promise<string[]> {
  const user = { email: 'ana@example.com', name: 'Ana', role: 'maintainer', password: 'correct horse battery' };
  expect((await system.administrator.post('/users', user)).status).toBe(201);
  const { email, password } = user;
  const session = await system.administrator.post('/auth/sessions', { email, password });
  const place = blocksOf(system, 'docs/access.md', 'place');
  const blocks = [...place, ...blocksOf(system, file, 'example')];
  const outputs = await runBlocks(blocks, { TOKEN: session.body.token }, withinMs);
  expect(outputs.join('')).not.toContain('"error":');
  return outputs.slice(place.length);
}
