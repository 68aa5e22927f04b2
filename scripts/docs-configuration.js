import { readFileSync, writeFileSync } from 'node:fs';
import { settings } from '../src/settings.ts';

/**
 * Writes docs/configuration.md from the table of settings, which the service itself reads. With `--check` it writes
 * nothing, and fails where the page says something else.
 */
const path = new URL('../docs/configuration.md', import.meta.url);

const head = `# Configuration

Every setting is an environment variable; there is no configuration file. An empty variable counts as not set. A process
reads its settings once, at its start, and names every one that is missing or wrong before it ends: values are never
repeated, since they may be secrets. Lists are separated by commas; \`true\`, \`yes\`, \`1\` and \`false\`, \`no\`, \`0\` are
the same to a switch.

A secret may come from a file instead: \`NAME_FILE\` names a file whose content is the value of \`NAME\`. Settings marked
with † take that; giving both is refused.

\`start\` makes a database, a Temporal server and a key ring of its own where none is named. \`api\`, \`worker\` and
\`migrate\` make nothing: they need \`DATABASE_URL\`, and but for \`migrate\` \`TEMPORAL_ADDRESS\` and
\`COORDINATOR_SECRET_KEYS\`, the same in every process of an installation.

| Setting | Default | Meaning |
|---|---|---|
`;

const foot = `
This page is written by \`npm run docs:configuration\` from \`src/settings.ts\`.
`;

const row = ([name, setting]) =>
  `| \`${name}\`${setting.isSecret ? ' †' : ''} | ${setting.default === null ? '' : `\`${setting.default}\``} | ${setting.description.replaceAll('|', '\\|')} |\n`;

const page = head + Object.entries(settings).map(row).join('') + foot;

if (!process.argv.includes('--check')) {
  writeFileSync(path, page);
} else if (readFileSync(path, 'utf8') !== page) {
  console.error('docs/configuration.md is not what src/settings.ts says: write it with `npm run docs:configuration`.');
  process.exitCode = 1;
}
