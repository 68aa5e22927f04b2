import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'delivery-coordinator');
const pins = { typescript: 'package-lock.json', python: 'requirements.txt' };

/** The directory of the programs for clients in a language, which set-up installs; null if they are not installed. */
export function findClientTools(language: 'typescript' | 'python'): string | null {
  const content = readFileSync(join('test', 'clients', language, pins[language]));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const directory = join(cache, `client-${language}-${digest}`);
  return existsSync(join(directory, 'installed')) ? directory : null;
}
