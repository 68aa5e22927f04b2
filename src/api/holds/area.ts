import type { Area } from '#api/web/declarations/area.ts';
import * as applyPause from './apply-pause-operations.ts';
import * as environments from './environment-operations.ts';
import { registerHoldPages } from './pages/register.ts';

export const area: Area = {
  operations: [environments, applyPause],
  tags: {
    apply_pause: 'The pause of all applies of the installation.',
  },
  pages: [registerHoldPages],
};
