# The commands of this project; `make` alone lists them. PROFILE=sqlite needs Rust and nothing else, PROFILE=mysql also
# MariaDB, Redis and RabbitMQ, which `make services` installs.

PROFILE ?= sqlite
ifeq ($(filter $(PROFILE),sqlite mysql),)
$(error PROFILE is sqlite or mysql, not "$(PROFILE)")
endif

CARGO ?= cargo
# A build on CI takes exactly the versions in Cargo.lock.
LOCKED := $(if $(CI),--locked)
# What e2e and schemathesis drive.
export ORDER_SERVICE_BIN ?= $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug/order-service

.DEFAULT_GOAL := help
.PHONY: help run run-sqlite run-mysql test test-sqlite test-mysql lint lint-rust lint-js fmt services e2e schemathesis \
	ci clean

help: ## List the commands
	@awk -F ': .*## ' '/^[a-z0-9-]+: .*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: run-$(PROFILE) ## Serve at http://localhost:8080; PROFILE=mysql: with servers of its own

run-sqlite:
	$(CARGO) run $(LOCKED)

run-mysql:
	$(CARGO) build $(LOCKED)
	scripts/with-services --data data/services --settings $(CARGO) run $(LOCKED)

test: test-$(PROFILE) ## Run the tests; PROFILE=mysql: on MariaDB, Redis and RabbitMQ, those that need a server included

test-sqlite:
	TEST_PROFILE=sqlite $(CARGO) test $(LOCKED) --workspace -- --skip redis --skip mysql

# The build comes first, so that no server runs meanwhile.
test-mysql:
	TEST_PROFILE=mysql $(CARGO) test $(LOCKED) --workspace --no-run
	TEST_PROFILE=mysql scripts/with-services $(CARGO) test $(LOCKED) --workspace

lint: lint-rust lint-js ## Check format, lints, docs and the pages' scripts

lint-rust:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy $(LOCKED) --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --no-deps --workspace

# Without Node.js there is nothing to check them with.
lint-js:
	@command -v node >/dev/null || exit 0; \
	find static -name '*.js' | while read -r file; do \
		node --input-type=module --check <"$$file" || { echo "in $$file"; exit 1; }; \
	done

fmt: ## Format the Rust code
	$(CARGO) fmt --all

services: ## Install MariaDB, Redis and RabbitMQ, as far as they are missing (Debian, Ubuntu)
	scripts/install-missing mariadbd:mariadb-server redis-server:redis-server rabbitmq-server:rabbitmq-server

e2e: ## Drive the pages in a browser (installs Chromium and Node.js, as far as they are missing)
	$(CARGO) build $(LOCKED)
	scripts/e2e

schemathesis: ## Try the API against its own description with generated requests (installs Schemathesis)
	$(CARGO) build $(LOCKED)
	scripts/schemathesis

ci: ## Everything that CI checks
	.ci/run

clean: ## Remove what was built; data/ stays
	$(CARGO) clean
	rm -rf tests/e2e/node_modules
