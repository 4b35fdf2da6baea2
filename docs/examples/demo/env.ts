import { createEnvSchema } from 'framework'

/** The variables that the environment, or a file `.env`, may set. */
export const env = createEnvSchema((schema) => ({
  /** The file in which the books are kept; without it, they are only in memory. */
  DATA_FILE: schema.string({ optional: true }),
  SESSION_SECRET: schema.string({ optional: true, secret: true }),
  /** `smtp://user:password@host`; without it, emails stay in memory. */
  SMTP_URL: schema.string({ optional: true, secret: true }),
}))
