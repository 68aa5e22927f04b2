import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The recording of workflow histories, which is no test: `npm run record-histories`. */
export default defineConfig({ test: { ...base.test, include: ['test/workflow/record-histories.ts'] } });
