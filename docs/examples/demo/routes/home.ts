import { router } from 'framework'

// Where to go from here, for whoever opens the address in a browser.
router.get('/', () => ({
  books: '/books',
  authors: '/authors',
  loans: '/loans',
  events: '/events',
  health: '/health/ready',
}))
