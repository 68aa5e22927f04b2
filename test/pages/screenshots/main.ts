import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TestApi } from '#test/support/api/in-process-api.ts';
import { launchBrowser } from '#test/support/browser/browser.ts';
import { declareAll } from '#test/support/pages/list/all-pages.ts';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import { listen, Onlookers } from '#test/support/pages/onlookers.ts';
import { startOwnApi } from '#test/support/pages/own-installation.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { attack, checkPages } from './check.ts';
import { takePictures } from './pictures.ts';

const documented = fileURLToPath(new URL('../../../docs/screenshots/', import.meta.url));

const help = `Usage: npm run docs:screenshots -- [--out <directory>] [--only <text>] [--viewport <name>] [--hostile] [--check] [--serve]
       npm run test:pages -- [--only <text>]

Without options, it writes the pictures of the documentation to docs/screenshots. test:pages is the same with --check and --hostile.

  --out       writes whole pages as PNG to this directory instead, of every declared page
  --only      only pages with this text in their name; may be repeated
  --viewport  only these: 1280-light, 1280-dark, 390-light, 390-dark; may be repeated
  --hostile   adds content that attacks the pages which show it, and declares these pages as well
  --check     takes no pictures, and says what is wrong with each page
  --serve     takes no pictures, and keeps the installation running until it is interrupted`;

interface Options {
  readonly out?: string | undefined;
  readonly only: readonly string[];
  readonly viewport: readonly string[];
  readonly hostile: boolean;
  readonly check: boolean;
  readonly serve: boolean;
}

async function main(): Promise<number> {
  const { help: isHelp, ...options } = readOptions();
  if (isHelp) {
    console.log(help);
    return 0;
  }
  const api = await startOwnApi();
  try {
    const installation = await seedInstallation(api);
    const origin = await listen(api);
    if (options.serve) return await serve(origin, installation);
    return await look(api, installation, origin, options);
  } finally {
    await api.close();
  }
}

function readOptions() {
  const [texts, flag] = [
    { type: 'string', multiple: true, default: [] as string[] },
    { type: 'boolean', default: false },
  ] as const;
  const options = {
    out: { type: 'string' },
    only: texts,
    viewport: texts,
    hostile: flag,
    check: flag,
    serve: flag,
    help: flag,
  } as const;
  return parseArgs({ options }).values;
}

async function look(api: TestApi, installation: Installation, origin: string, options: Options): Promise<number> {
  const { only, hostile, check, out, viewport } = options;
  const all = [...declareAll(installation), ...(hostile ? await attack(api, installation) : [])];
  const pages = all.filter(({ name }) => only.length === 0 || only.some((text) => name.includes(text)));
  const browser = await launchBrowser();
  try {
    const onlookers = new Onlookers(browser, api, installation.people, origin);
    if (check) return (await checkPages(onlookers, pages)) === 0 ? 0 : 1;
    await takeWanted(onlookers, pages, out, viewport);
    return 0;
  } finally {
    await browser.close();
  }
}

async function takeWanted(
  onlookers: Onlookers,
  pages: readonly DeclaredPage[],
  out: string | undefined,
  viewports: readonly string[],
): Promise<void> {
  const directory = out ?? documented;
  mkdirSync(directory, { recursive: true });
  const wanted = out === undefined ? pages.filter(({ isPictured }) => isPictured) : pages;
  await takePictures(onlookers, wanted, { directory, isWhole: out !== undefined, viewports });
}

/** Lets people click through the installation. */
async function serve(origin: string, { people }: Installation): Promise<number> {
  console.log(`${origin}/login, with the password "correct horse battery":`);
  for (const { name, email } of Object.values(people)) console.log(`  ${name.padEnd(26)} ${email}`);
  await new Promise((resolve) => process.once('SIGINT', resolve));
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error);
  return 1;
});
process.exit();
