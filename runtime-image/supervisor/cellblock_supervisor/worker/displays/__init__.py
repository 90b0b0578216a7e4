"""What displayed objects are sent as: tables, charts and pictures beside their own representations."""
