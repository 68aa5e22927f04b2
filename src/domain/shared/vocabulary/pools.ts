import { z } from 'zod';

/** The names of worker pools. Pure. */

export const PoolName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'expected 1-63 lowercase letters, digits and ". _ -", such as "default"',
});

export const defaultPool = 'default';
