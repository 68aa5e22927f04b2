import type { Area } from '#api/web/declarations/area.ts';
import * as commands from './operations.ts';

export const area: Area = {
  operations: [commands],
  tags: {
    commands: 'What became of a command, by its Idempotency-Key.',
  },
};
