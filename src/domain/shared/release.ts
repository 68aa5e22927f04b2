import packageFile from '../../../package.json' with { type: 'json' };

/** The release of this program. */
export const release = packageFile.version;
