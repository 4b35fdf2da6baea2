import { HttpError, router } from 'framework'

router.get('/directors/:id', (req) => {
  throw new HttpError(404, { code: 'DirectorNotFoundError', message: `There is no director ${req.params.id}` })
})
