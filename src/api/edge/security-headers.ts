import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import fp from 'fastify-plugin';
import { type HostRule, refuseOtherHost } from './host-check.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The `Host` header is not checked on this route, because probes use any name or address. */
    anyHost?: boolean;
  }
}

export type SecurityHeadersOptions = {
  /** The origin that clients use. HSTS is sent only if it is https. */
  baseUrl?: string | null;
  /** The accepted `Host` headers. See `HostRule`. */
  hosts?: HostRule;
};

type ContentSecurityPolicy = Exclude<FastifyHelmetOptions['contentSecurityPolicy'], boolean | undefined>;

/** API answers load nothing and may not be framed. */
const apiPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
} satisfies ContentSecurityPolicy;

/** Pages may load scripts, styles, images and streams of this service: nothing inline, and nothing from other origins. */
export const pagePolicy = {
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
} satisfies ContentSecurityPolicy;

/**
 * The headers of a route that renders a page: `{ helmet: pageHeaders }`. The referrer policy is `same-origin`, because with
 * `no-referrer` browsers send forms with `Origin: null`.
 */
export const pageHeaders = {
  contentSecurityPolicy: pagePolicy,
  referrerPolicy: { policy: 'same-origin' },
} as const satisfies FastifyHelmetOptions;

/** The same headers for an error that occurs before routing, where helmet cannot set them. */
export const earlyPageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': Object.entries(pagePolicy.directives)
    .map(([name, sources]) => [name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), ...sources].join(' '))
    .join(';'),
  'referrer-policy': pageHeaders.referrerPolicy.policy,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
};

const oneYear = 31_536_000;

/** Sets security headers on every answer and `no-store` unless an answer sets its own caching, and checks the `Host` header. */
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
        refuseOtherHost(request, options.baseUrl ?? null, options.hosts ?? 'known');
    });
    app.addHook('onSend', async (_request, reply) => {
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    });
  },
  { name: 'security-headers', fastify: '5.x', dependencies: ['request-id', 'errors'] },
);
