import packageFile from '../../../../package.json' with { type: 'json' };

/** The release of this program. */
export const release = packageFile.version;

/** The name by which clients recognize this service (specification, *POST /api/v1/auth/can-i*). */
export const apiGroup = 'delivery.coordinator';
export const apiVersion = 'v1';
