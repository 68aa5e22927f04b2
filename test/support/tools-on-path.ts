import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Puts the OpenTofu that set-up built on the search path of every test process, so that all of them find the same tools. */
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'delivery-coordinator');
const built = existsSync(cache) ? readdirSync(cache).filter((name) => /^tofu-[\d.]+$/.test(name)) : [];
const path = process.env['PATH'] ?? '';
const added = built.map((name) => join(cache, name)).filter((directory) => !path.split(delimiter).includes(directory));
process.env['PATH'] = [...added, path].join(delimiter);
