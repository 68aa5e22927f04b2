import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { secretForms } from '#domain/shared/redaction/secret-forms.ts';
import type { Installation } from '../harness/installation.ts';

/**
 * Searches everything that an installation stores for a secret: every column of every table, every payload in the history
 * of every workflow, and every log of its processes. It looks for the secret itself, for the forms in which programs print
 * it, and for their hexadecimal form in the database.
 * @returns the places that hold the secret
 */
export async function findLeaks(installation: Installation, secret: string): Promise<string[]> {
  const forms = secretForms(secret);
  const places = [
    await searchDatabase(installation, forms),
    await searchHistories(installation, forms),
    await searchLogFiles(installation, forms),
  ];
  return places.flat();
}

async function searchDatabase({ query }: Installation, forms: Buffer[]): Promise<string[]> {
  const tables = await query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  const patterns = forms.flatMap((form) => [form.toString(), form.toString('hex')]);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await query<{ hits: number }>(
      `select count(*)::int as hits from ${name} t where exists (select 1 from unnest($1::text[]) p where position(p in t::text) > 0
          or position(replace(replace(p, '\\', '\\\\'), '"', '""') in t::text) > 0)`,
      [patterns],
    );
    if ((rows[0]?.hits ?? 0) > 0) found.push(`the table ${name}`);
  }
  return found;
}

/** Searches the decoded payloads. A history holds them as bytes, which a search in its JSON would not find. */
async function searchHistories({ askEngine }: Installation, forms: Buffer[]): Promise<string[]> {
  return askEngine(async ({ workflow }) => {
    const found: string[] = [];
    for await (const { workflowId } of workflow.list({})) {
      const history = await workflow.getHandle(workflowId).fetchHistory();
      const bytes = Buffer.concat([...collectBytes(history)]);
      if (forms.some((form) => bytes.includes(form))) found.push(`the history of ${workflowId}`);
    }
    return found;
  });
}

function* collectBytes(value: unknown): Generator<Uint8Array> {
  if (value instanceof Uint8Array) yield value;
  else if (typeof value === 'string') yield Buffer.from(value);
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) yield* collectBytes(part);
}

async function searchLogFiles({ directory }: Installation, forms: Buffer[]): Promise<string[]> {
  const files = readdirSync(directory).filter(
    (name) => name.endsWith('.log') && statSync(join(directory, name)).isFile(),
  );
  const found: string[] = [];
  for (const name of files) {
    for await (const piece of createReadStream(join(directory, name), { highWaterMark: 8 * 1024 * 1024 })) {
      if (forms.some((form) => piece.includes(form))) found.push(`the file ${name}`);
    }
  }
  return [...new Set(found)];
}
