import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launchBrowser } from '#test/support/browser/browser.ts';
import { declareAll } from '#test/support/pages/list/all-pages.ts';
import { listen, Onlookers } from '#test/support/pages/onlookers.ts';
import { startOwnApi } from '#test/support/pages/own-installation.ts';
import { seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { takePictures } from './pictures.ts';

const documented = fileURLToPath(new URL('../../../docs/screenshots/', import.meta.url));

const help = `Usage: npm run docs:screenshots -- [--out <directory>] [--only <text>] [--viewport <name>] [--serve]

Without options, it writes the pictures of the documentation to docs/screenshots.

  --out       writes whole pages as PNG to this directory instead, of every declared page
  --only      only pages with this text in their name; may be repeated
  --viewport  only these: 1280-light, 1280-dark, 390-light, 390-dark; may be repeated
  --serve     takes no pictures, and keeps the installation running until it is interrupted`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      viewport: { type: 'string', multiple: true, default: [] },
      serve: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const api = await startOwnApi();
  try {
    const installation = await seedInstallation(api);
    const origin = await listen(api);
    if (values.serve) return await serve(origin, Object.values(installation.people));
    const isWanted = (name: string) => values.only.length === 0 || values.only.some((text) => name.includes(text));
    const declared = declareAll(api.app, installation).filter(({ name }) => isWanted(name));
    const browser = await launchBrowser();
    const onlookers = new Onlookers(browser, api, installation.people, origin);
    const target =
      values.out === undefined ? { directory: documented, isWhole: false } : { directory: values.out, isWhole: true };
    mkdirSync(target.directory, { recursive: true });
    const pages = target.isWhole ? declared : declared.filter(({ isPictured }) => isPictured);
    await takePictures(onlookers, pages, { ...target, viewports: values.viewport });
    await browser.close();
    return 0;
  } finally {
    await api.close();
  }
}

/** Lets people click through the installation. */
async function serve(origin: string, people: readonly { email: string; name: string }[]): Promise<number> {
  console.log(`${origin}/login, with the password "correct horse battery":`);
  for (const { name, email } of people) console.log(`  ${name.padEnd(26)} ${email}`);
  await new Promise((resolve) => process.once('SIGINT', resolve));
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error);
  return 1;
});
process.exit();
