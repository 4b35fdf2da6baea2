export { mailer } from './plugin.ts'
export type { MailSendTrace } from './provider.ts'
export * from './public.ts'
