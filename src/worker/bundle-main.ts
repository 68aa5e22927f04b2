import { writeFileSync } from 'node:fs';
import { bundleWorkflows } from './workflow-bundle.ts';

/** Writes the bundle of the workflows to the file that the command line names. */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('bundle-main needs the path of the file to write');
const { code } = await bundleWorkflows();
writeFileSync(path, code, { mode: 0o600, flag: 'wx' });
