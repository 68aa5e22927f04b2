import type { Area } from '#api/web/declarations/area.ts';
import * as reviews from './operations.ts';

export const area: Area = {
  operations: [reviews],
};
