import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import fp from 'fastify-plugin';
import { type HostRule, refuseForeignHost } from './host-check.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Probes ask by whatever name or address they know: the `Host` is not checked on this route. */
    anyHost?: boolean;
  }
}

export type SecurityHeadersOptions = {
  /** The origin that clients see; HSTS is sent only where it is https. */
  baseUrl?: string | null;
  /** Which `Host` is answered; see `HostRule`. */
  hosts?: HostRule;
};

type ContentSecurityPolicy = Exclude<FastifyHelmetOptions['contentSecurityPolicy'], boolean | undefined>;

/** An answer of the API renders nothing and may not be framed. */
const apiPolicy: ContentSecurityPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/**
 * What a page of this service may load: its own scripts, styles, images and streams, nothing inline and nothing from
 * elsewhere.
 */
export const pagePolicy: ContentSecurityPolicy = {
  useDefaults: false,
  directives: {
    ...apiPolicy.directives,
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    fontSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
  },
};

/**
 * The headers of a route that renders a page: `{ helmet: pageHeaders }`. A page tells its address to our own origin, as
 * browsers would otherwise send its forms with `Origin: null`, which is nobody's origin.
 */
export const pageHeaders = {
  contentSecurityPolicy: pagePolicy,
  referrerPolicy: { policy: 'same-origin' },
} as const satisfies FastifyHelmetOptions;

const oneYear = 31_536_000;

/**
 * Headers that keep browsers from doing with answers what they should not, `no-store` on everything that does not say
 * otherwise, and the check of `Host` that stops DNS rebinding.
 */
export const securityHeaders = fp<SecurityHeadersOptions>(
  async (app, options) => {
    const secure = options.baseUrl?.startsWith('https:') ?? false;
    await app.register(helmet, {
      contentSecurityPolicy: apiPolicy,
      strictTransportSecurity: secure ? { maxAge: oneYear, includeSubDomains: false } : false,
      crossOriginOpenerPolicy: { policy: 'same-origin' },
      crossOriginResourcePolicy: { policy: 'same-origin' },
      referrerPolicy: { policy: 'no-referrer' },
      xFrameOptions: { action: 'deny' },
    });
    app.addHook('onRequest', async (request, reply) => {
      reply.raw.setHeader('permissions-policy', 'camera=(), geolocation=(), microphone=()');
      if (!request.routeOptions.config.anyHost)
        refuseForeignHost(request, options.baseUrl ?? null, options.hosts ?? 'known');
    });
    app.addHook('onSend', async (_request, reply) => {
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    });
  },
  { name: 'security-headers', fastify: '5.x', dependencies: ['request-id', 'errors'] },
);
