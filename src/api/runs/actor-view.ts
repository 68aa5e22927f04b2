import { z } from 'zod';
import { principalKinds } from '#domain/shared/vocabulary/roles.ts';

/** Who did something. */
export const By = z.object({ type: z.enum(principalKinds), id: z.string(), name: z.string() }).meta({ id: 'Actor' });
