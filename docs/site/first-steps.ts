/** The way from nothing to a deployed service, in its order. A test holds it to ten pages and 9000 words. */
export const firstSteps: readonly (readonly [page: string, name: string])[] = [
  ['docs/getting-started.md', '1. Getting started'],
  ['docs/first-steps/routes.md', '2. Routes and input'],
  ['docs/first-steps/plugins.md', '3. Plugins and services'],
  ['docs/first-steps/database.md', '4. A database'],
  ['docs/first-steps/log-in.md', '5. Log in'],
  ['docs/first-steps/background-work.md', '6. Background work'],
  ['docs/first-steps/tests.md', '7. Tests'],
  ['docs/first-steps/look-inside.md', '8. Look inside'],
  ['docs/first-steps/deploy.md', '9. Deploy'],
]
