import { randomBytes } from 'node:crypto';

/** The role that reads the tables of plugins in an embedded database. Each start gives it a new password. */
export function choosePluginReader(databaseUrl: string): { role: string; password: string; url: string } {
  const url = new URL(databaseUrl);
  const role = `plugin_reader_of_${url.pathname.slice(1)}`.slice(0, 63);
  const password = randomBytes(24).toString('hex');
  url.username = role;
  url.password = password;
  return { role, password, url: url.href };
}
