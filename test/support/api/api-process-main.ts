import { runApi } from '#api/main.ts';
import { loadConfig } from '#config';

const api = await runApi(loadConfig());
process.stdout.write(`${api.url}\n`);
process.once('SIGTERM', () => void api.close());
