import { createPluginReader } from '#database/plugin-reader.ts';
import { choosePluginReader } from '#local/postgres/plugin-reader.ts';

/** Makes the role that reads the tables of plugins, as `start` does, and returns the URL of the database with it. */
export async function openPluginReader(databaseUrl: string, schemas: readonly string[]): Promise<string> {
  const { url, ...reader } = choosePluginReader(databaseUrl);
  await createPluginReader(databaseUrl, { ...reader, schemas });
  return url;
}
