import { HttpError, router } from 'framework'

router.get('/directors/:id', (req) => {
  throw new HttpError(404, { code: 'DIRECTOR_NOT_FOUND', message: `There is no director ${req.params.id}` })
})
