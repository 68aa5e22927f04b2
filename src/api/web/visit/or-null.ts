import { ServiceError } from '#domain/shared/errors.ts';

/** Returns null for a resource that does not exist, that the visitor may not know, or whose name is malformed. */
export function orNull<Read>(reading: Promise<Read>): Promise<Read | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof ServiceError && (error.kind === 'invalid' || error.kind === 'notFound')) return null;
    throw error;
  });
}
