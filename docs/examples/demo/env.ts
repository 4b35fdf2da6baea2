import { createEnvSchema } from 'framework'

/** What the environment, or a file `.env`, may say. */
export const env = createEnvSchema((schema) => ({
  /** Where the books are kept; without it in memory. */
  DATA_FILE: schema.string({ optional: true }),
  SESSION_SECRET: schema.string({ optional: true, secret: true }),
  /** `smtp://user:password@host`; without it mails stay in memory. */
  SMTP_URL: schema.string({ optional: true, secret: true }),
}))
