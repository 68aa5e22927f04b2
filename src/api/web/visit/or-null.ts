import { ServiceError } from '#domain/shared/errors.ts';

/** Null for what does not exist, may not be known, or has no right name. */
export function orNull<Read>(reading: Promise<Read>): Promise<Read | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof ServiceError && (error.kind === 'invalid' || error.kind === 'notFound')) return null;
    throw error;
  });
}
