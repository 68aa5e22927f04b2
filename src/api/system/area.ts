import type { Area } from '#api/web/declarations/area.ts';
import * as system from './operations.ts';

export const area: Area = {
  operations: [system],
  tags: {
    system: 'What this service is.',
  },
};
