import { writeFileSync } from 'node:fs';
import { bundleWorkflows } from './workflow-bundle.ts';

/** Bundles the workflows into the file that is named on the command line. */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('bundle-main needs the path of the file to write');
const { code } = await bundleWorkflows();
writeFileSync(path, code, { mode: 0o600, flag: 'wx' });
