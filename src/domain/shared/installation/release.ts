import packageFile from '../../../../package.json' with { type: 'json' };

/** The release of this program. */
export const release = packageFile.version;

/** What the service calls itself where a client must know that it is this one (specification, *POST /api/v1/auth/can-i*). */
export const apiGroup = 'delivery.coordinator';
export const apiVersion = 'v1';
