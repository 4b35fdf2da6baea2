import { router } from 'framework'

// Links for visitors who open the address in a browser.
router.get('/', { apidoc: false }, () => ({
  page: '/app/',
  books: '/books',
  authors: '/authors',
  loans: '/loans',
  list: '/list',
  events: '/events',
  health: '/health/ready',
  docs: '/docs',
  graphql: '/graphql',
  jobs: '/crons',
}))
