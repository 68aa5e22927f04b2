import { z } from 'zod';
import { principalKinds } from '#domain/identity/model.ts';

/** Who did something. */
export const By = z.object({ type: z.enum(principalKinds), id: z.string(), name: z.string() }).meta({ id: 'Actor' });
